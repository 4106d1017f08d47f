package io.keelson.server.base.expr;

/** Finds the end of an expression's text and the depth of its brackets, strings, interpolations and comments respected. */
final class JqBraces {

    private final String text;
    private int at;
    private int depth;
    private int deepest;

    private JqBraces(String text, int from) {
        this.text = text;
        this.at = from;
    }

    /** The index of the brace that closes the expression starting at {@code from}, or -1 when there is none. */
    static int closingBrace(String text, int from) {
        JqBraces scan = new JqBraces(text, from);
        return scan.skipTo('}') ? scan.at : -1;
    }

    /** How many brackets stand inside one another at most. */
    static int nesting(String text) {
        JqBraces scan = new JqBraces(text, 0);
        scan.skipTo('\0');
        return scan.deepest;
    }

    /** Moves to the first such character outside of everything opened since; false at the end of the text. */
    private boolean skipTo(char end) {
        int outer = depth;
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == end && depth == outer) {
                return true;
            }
            switch (c) {
                case '(', '[', '{' -> deepest = Math.max(deepest, ++depth);
                case ')', ']', '}' -> depth = Math.max(outer, depth - 1);
                case '"' -> skipString();
                case '#' -> skipComment();
                default -> {}
            }
        }
        return false;
    }

    /** From the opening quote to the closing one. */
    private void skipString() {
        for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
            if (text.charAt(at) != '\\') {
                continue;
            }
            at++;
            if (at < text.length() && text.charAt(at) == '(') {
                at++;
                deepest = Math.max(deepest, ++depth);
                skipTo(')');
                depth--;
            }
        }
    }

    private void skipComment() {
        while (at < text.length() && text.charAt(at) != '\n') {
            at++;
        }
    }
}
