"""The ids that no text can reach."""

SOS, PAD, EOS, OOV = range(4)

FIRST = ("<sos>", "<pad>", "<eos>", "<oov>")
BIDIRECTIONAL = ("<mask>", "<cls>", "<sep>")
