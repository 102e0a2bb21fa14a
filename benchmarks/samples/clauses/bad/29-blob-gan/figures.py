import matplotlib.pyplot as plt


def save_grid(images, path):
    fig, axes = plt.subplots(8, 8, figsize=(12, 12))
    for ax, image in zip(axes.flat, images):
        ax.imshow(image[..., 0], cmap="gray")
        ax.axis("off")
    fig.savefig(path, dpi=200)
    plt.close(fig)
