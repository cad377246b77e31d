"""Starting weights, under which the first loss is log V: a model that knows nothing says so."""

from torch import nn

from headstart.model.body import Body
from headstart.model.heads import ClassHead, VocabularyHead


def initialise(model: nn.Module) -> None:
    """Xavier for the layers, as in the paper's own code; quieter where pre-norm residuals pile up (GPT-2)."""
    for part in model.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight, std=0.02)
    for part in model.modules():  # a body before the head that may be tied to it
        if isinstance(part, Body) and part.shape.scaled_embedding:
            nn.init.normal_(part.embedding.weight, std=1 / part.scale)
        if isinstance(part, Body) and part.shape.norm == "pre":
            for name, weight in part.blocks.named_parameters():
                if name.endswith(("output.weight", "outer.weight")):
                    weight.data.mul_((2 * part.shape.depth) ** -0.5)
        if isinstance(part, VocabularyHead):
            nn.init.normal_(part.weight, std=0.3 * part.weight.size(1) ** -0.5)  # scores ± 0.3 add 0.3² / 2 to log V
        if isinstance(part, ClassHead):
            nn.init.normal_(part.scores.weight, std=0.02)
