from keras import backend as K


def dice_coef(y_true, y_pred, smooth=1.0):
    t = K.flatten(y_true)
    p = K.flatten(y_pred)
    overlap = K.sum(t * p)
    return (2.0 * overlap + smooth) / (K.sum(t) + K.sum(p) + smooth)


def dice_loss(y_true, y_pred):
    return 1.0 - dice_coef(y_true, y_pred)
