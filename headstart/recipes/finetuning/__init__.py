"""The parts of `finetune`."""
