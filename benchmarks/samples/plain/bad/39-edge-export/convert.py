import numpy as np
import tensorflow as tf


def calibration(images):
    def generator():
        for image in images[:100]:
            yield [image[None].astype(np.float32)]
    return generator


def to_int8(model, images):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = calibration(images)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    return converter.convert()


def run_int8(blob, images):
    interpreter = tf.lite.Interpreter(model_content=blob)
    interpreter.allocate_tensors()
    inp, out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    scale, zero = inp["quantization"]
    labels = []
    for image in images:
        q = np.round(image / 255.0 / scale + zero).clip(-128, 127).astype(np.int8)
        interpreter.set_tensor(inp["index"], q[None])
        interpreter.invoke()
        labels.append(int(interpreter.get_tensor(out["index"])[0].argmax()))
    return np.array(labels)
