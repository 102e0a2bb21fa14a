from serve import Grader
from train import readings, train


def main():
    train()
    grader = Grader()
    tray, truth = readings(500, seed=3)
    agreement = (grader.grade(tray) == truth).mean()
    print("first five:", grader.names(tray[:5]))
    print(f"agreement with the hand graders: {agreement:.3f}")


if __name__ == "__main__":
    main()
