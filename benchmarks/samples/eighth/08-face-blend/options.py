import argparse


def get_parser():
    parser = argparse.ArgumentParser(description="DCGAN for small faces")
    parser.add_argument("--name", type=str, default="faces")
    parser.add_argument("--image_size", type=int, default=32)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--latent_dim", type=int, default=32)
    parser.add_argument("--base_filters", type=int, default=16)
    parser.add_argument("--use_bn", type=bool, default=True)
    parser.add_argument("--loss", choices=["bce", "lsgan", "hinge"], default="bce")
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--beta1", type=float, default=0.5)
    parser.add_argument("--label_smooth", type=float, default=0.9)
    parser.add_argument("--sample_every", default="1")
    parser.add_argument("--out_dir", default="samples")
    return parser
