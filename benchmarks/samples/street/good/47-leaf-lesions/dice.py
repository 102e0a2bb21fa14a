from keras import ops


def dice_coef(y_true, y_pred, smooth=1.0):
    t = ops.reshape(y_true, (-1,))
    p = ops.reshape(y_pred, (-1,))
    overlap = ops.sum(t * p)
    return (2.0 * overlap + smooth) / (ops.sum(t) + ops.sum(p) + smooth)


def dice_loss(y_true, y_pred):
    return 1.0 - dice_coef(y_true, y_pred)
