"""Writes the networks of this folder: architectures of torchvision as ONNX, without their weights.

    /usr/bin/python3 tests/workload/networks/export.py tests/workload/networks

Needs python3-torchvision and python3-onnx; made with torchvision 0.14.1 and torch 1.13.1. Norms are not folded into convolutions,
so that parameters are those that are published. Weights keep their shapes and lose their numbers. (ShuffleNet and vision transformers have shapes that
ONNX's own inference does not find.)
"""

import io
import pathlib
import sys

import onnx
import torch
import torchvision

NAMES = {"alexnet": 224, "vgg16": 224, "resnet18": 224, "resnet50": 224, "googlenet": 224, "inception_v3": 299, "densenet121": 224, "mobilenet_v2": 224,
         "mnasnet1_0": 224, "squeezenet1_1": 224, "efficientnet_b0": 224, "regnet_y_400mf": 224}
WITHOUT_SIDE_HEADS = ("googlenet", "inception_v3")


def export(name, size):
    more = {"aux_logits": False, "init_weights": False} if name in WITHOUT_SIDE_HEADS else {}
    network = getattr(torchvision.models, name)(weights=None, **more).eval()
    with torch.no_grad():  # numbers that differ: equal tensors would be written once
        for tensor in (*network.parameters(), *network.buffers()):
            if tensor.is_floating_point():
                tensor.uniform_(0.5, 1.5)
    written = io.BytesIO()
    torch.onnx.export(network, torch.zeros(1, 3, size, size), written, opset_version=13, training=torch.onnx.TrainingMode.PRESERVE)
    model = onnx.load_from_string(written.getvalue())
    for weight in model.graph.initializer:
        if weight.data_type == onnx.TensorProto.FLOAT:
            weight.ClearField("raw_data")
    for node in model.graph.node:
        node.ClearField("doc_string")
    return model.SerializeToString(), sum(parameter.numel() for parameter in network.parameters())


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, size in NAMES.items():
        data, parameters = export(name, size)
        (folder / f"{name}.onnx").write_bytes(data)
        print(name, len(data), parameters)


if __name__ == "__main__":
    main()
