package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A text with jq expressions in {@code ${ … }}; {@code $${} is a literal {@code ${}.
 *
 * @param parts in order; a text without expressions has one literal part or none
 */
record Template(List<Part> parts) {

    /** Literal text, or an expression with its offset in the template; exactly one of the two is set. */
    record Part(@Nullable String literal, @Nullable String expression, int offset) {}

    /** @throws ExpressionException {@code EXPRESSION_SYNTAX} when a {@code ${} is not closed */
    static Template parse(String text) {
        List<Part> parts = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            if (text.startsWith("$${", at)) {
                literal.append("${");
                at += 3;
            } else if (text.startsWith("${", at)) {
                int end = JqBraces.closingBrace(text, at + 2);
                if (end < 0) {
                    throw new ExpressionException("EXPRESSION_SYNTAX",
                            "the expression that starts at character " + at + " is not closed with }");
                }
                flush(literal, parts);
                parts.add(new Part(null, text.substring(at + 2, end).strip(), at));
                at = end + 1;
            } else {
                literal.append(text.charAt(at++));
            }
        }
        flush(literal, parts);
        return new Template(List.copyOf(parts));
    }

    private static void flush(StringBuilder literal, List<Part> parts) {
        if (!literal.isEmpty()) {
            parts.add(new Part(literal.toString(), null, 0));
            literal.setLength(0);
        }
    }

    /** The expression when the template is nothing but one and white space around it, else null. */
    @Nullable String single() {
        List<Part> filled = parts.stream()
                .filter(part -> part.literal() == null || !part.literal().isBlank()).toList();
        return filled.size() == 1 ? filled.getFirst().expression() : null;
    }

    List<Part> expressions() {
        return parts.stream().filter(part -> part.expression() != null).toList();
    }
}
