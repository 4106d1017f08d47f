package io.keelson.core.mutants;

/**
 * A mistake planted in the core.
 *
 * @param file below {@code io/keelson/core}
 * @param was the very text, once in its file; line breaks and indentation count as one blank
 * @param becomes the replacement
 * @param breaks what goes wrong, as docs/internals/proof.md lists it
 */
record Mutant(String file, String was, String becomes, String breaks) {

    @Override
    public String toString() {
        return breaks;
    }
}
