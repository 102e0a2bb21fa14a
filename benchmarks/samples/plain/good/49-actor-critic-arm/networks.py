import tensorflow as tf


def mlp(inputs, outputs, name):
    return tf.keras.Sequential([
        tf.keras.Input((inputs,)),
        tf.keras.layers.Dense(32, activation="tanh"),
        tf.keras.layers.Dense(outputs),
    ], name=name)


class ActorCritic:
    def __init__(self, state_size, actions, rate):
        self.actor = mlp(state_size, actions, "actor")
        self.critic = mlp(state_size, 1, "critic")
        self.actor_optimizer = tf.keras.optimizers.Adam(rate)
        self.critic_optimizer = tf.keras.optimizers.Adam(rate)

    @tf.function
    def update(self, states, actions, returns):
        with tf.GradientTape() as critic_tape:
            values = tf.squeeze(self.critic(states, training=True), -1)
            critic_loss = tf.reduce_mean(tf.square(returns - values))
        advantage = tf.stop_gradient(returns - values)
        with tf.GradientTape() as actor_tape:
            log_probs = tf.nn.log_softmax(self.actor(states, training=True))
            chosen = tf.gather(log_probs, actions, batch_dims=1)
            actor_loss = -tf.reduce_mean(chosen * advantage)
        critic_grads = critic_tape.gradient(critic_loss, self.critic.trainable_variables)
        actor_grads = actor_tape.gradient(actor_loss, self.actor.trainable_variables)
        self.critic_optimizer.apply_gradients(zip(critic_grads, self.critic.trainable_variables))
        self.actor_optimizer.apply_gradients(zip(actor_grads, self.actor.trainable_variables))
        return actor_loss, critic_loss
