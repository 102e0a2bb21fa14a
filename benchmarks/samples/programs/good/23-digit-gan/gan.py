# after the classic Keras DCGAN example
import numpy as np
from tensorflow.keras.layers import Dense, Dropout, Input, LeakyReLU
from tensorflow.keras.models import Model, Sequential
from tensorflow.keras.optimizers import Adam


class GAN():
    def __init__(self, img_dim=64, latent_dim=10):
        self.img_dim, self.latent_dim = img_dim, latent_dim

        self.discriminator = self.build_discriminator()
        self.discriminator.compile(loss='binary_crossentropy', optimizer=Adam(0.002, 0.5), metrics=['accuracy'])

        self.generator = self.build_generator()
        z = Input(shape=(self.latent_dim,))
        img = self.generator(z)

        # For the combined model we will only train the generator
        self.discriminator.trainable = False
        valid = self.discriminator(img)
        self.combined = Model(z, valid)
        self.combined.compile(loss='binary_crossentropy', optimizer=Adam(0.0002, 0.5))

    def build_generator(self):
        return Sequential([Input((self.latent_dim,)), Dense(32), LeakyReLU(negative_slope=0.2),
                           Dense(self.img_dim, activation='tanh')])

    def build_discriminator(self):
        return Sequential([Input((self.img_dim,)), Dense(32), LeakyReLU(negative_slope=0.2), Dropout(0.2),
                           Dense(1, activation='sigmoid')])

    def train(self, X, epochs, batch_size=32):
        valid = np.ones((batch_size, 1))
        fake = np.zeros((batch_size, 1))
        for epoch in range(epochs):
            imgs = X[np.random.randint(0, X.shape[0], batch_size)]
            noise = np.random.normal(0, 1, (batch_size, self.latent_dim))
            gen_imgs = self.generator(noise).numpy()

            self.discriminator.trainable = True
            d_real = self.discriminator.train_on_batch(imgs, valid)
            d_fake = self.discriminator.train_on_batch(gen_imgs, fake)
            self.discriminator.trainable = False
            g_loss = self.combined.train_on_batch(noise, valid)
            if epoch % 5 == 4:
                print("%d [D loss: %.3f / %.3f] [G loss: %.3f]" % (epoch, d_real[0], d_fake[0], g_loss))


if __name__ == '__main__':
    X = np.sign(np.random.randn(500, 64)) * 0.9
    GAN().train(X, epochs=15)
