"""A small language model: words by the two before them, with back-off, greedy over a few candidates."""
import math
from collections import Counter, defaultdict


class Model:
    def __init__(self):
        self.unigrams = Counter()
        self.bigrams = defaultdict(Counter)
        self.trigrams = defaultdict(Counter)
        self.total = 0

    def train(self, path):
        with open(path) as f:
            for line in f:
                tokens = line.split()
                self.unigrams.update(tokens)
                self.total += len(tokens)
                for a, b in zip(tokens, tokens[1:]):
                    self.bigrams[a][b] += 1
                for a, b, c in zip(tokens, tokens[1:], tokens[2:]):
                    self.trigrams[a, b][c] += 1

    def score(self, context, word):
        a, b = context
        tri, bi = self.trigrams.get((a, b)), self.bigrams.get(b)
        p = self.unigrams[word] / self.total * 0.1
        if bi:
            p += 0.3 * bi[word] / sum(bi.values())
        if tri:
            p += 0.6 * tri[word] / sum(tri.values())
        return math.log(p or 1e-9)

    def candidates(self, context):
        a, b = context
        found = [w for w, _ in self.trigrams.get((a, b), Counter()).most_common(6)]
        found += [w for w, _ in self.bigrams.get(b, Counter()).most_common(8) if w not in found]
        return found or [w for w, _ in self.unigrams.most_common(5)]

    def step(self, beams, width=3):
        """One more word for each beam; the best ones are kept."""
        grown = []
        for total, words in beams:
            context = (words[-2] if len(words) > 1 else "", words[-1])
            for word in self.candidates(context):
                penalty = 0.8 * words[-12:].count(word)
                grown.append((total + self.score(context, word) - penalty, words + [word]))
        grown.sort(key=lambda g: (-g[0], g[1]))
        return grown[:width]
