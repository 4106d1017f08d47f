package io.keelson.core.mutants;

/**
 * A mistake planted in the core.
 *
 * @param file below {@code io/keelson/core}
 * @param was the very text, once in its file; line breaks and indentation count as one blank
 * @param becomes the replacement
 * @param breaks what goes wrong, as docs/internals/proof.md lists it
 * @param firstSeed the seed to simulate before all others: one that found the mutant, so that no search repeats
 */
record Mutant(String file, String was, String becomes, String breaks, int firstSeed) {

    Mutant(String file, String was, String becomes, String breaks) {
        this(file, was, becomes, breaks, 1);
    }

    /** The same where another seed than the first few is known to find it. */
    Mutant foundBy(int seed) {
        return new Mutant(file, was, becomes, breaks, seed);
    }

    @Override
    public String toString() {
        return breaks;
    }
}
