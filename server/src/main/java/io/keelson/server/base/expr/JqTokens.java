package io.keelson.server.base.expr;

import java.util.Collection;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** The words and signs of a program, one ahead of the parser. */
final class JqTokens {

    private enum Kind { END, WORD, FIELD, VARIABLE, FORMAT, NUMBER, TEXT, SIGN }

    private static final Set<String> KEYWORDS = Set.of("def", "if", "then", "elif", "else", "end", "as", "reduce",
            "foreach", "try", "catch", "label", "import", "include", "and", "or", "__loc__");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*");
    private static final Pattern NUMBER = Pattern.compile("([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)?");
    private static final Pattern SIGN =
            Pattern.compile("\\?//(?!=)|//=|\\|=|\\+=|-=|\\*=|/=|%=|==|!=|<=|>=|//|\\.\\.|[-.?=<>+*/%|,:;()\\[\\]{}]");
    private static final Pattern HYPHENED = Pattern.compile("((?:\\.[A-Za-z_]\\w*)*)\\.([A-Za-z_]\\w*(?:-\\w+)+)");

    private final String text;
    private Kind kind = Kind.END;
    /** The current token: its text, its start, and the first character behind it. */
    private String token = "";
    private int start;
    private int end;

    JqTokens(String text) {
        this.text = text;
        next();
    }

    static ExpressionException refused(String message) {
        return new ExpressionException("EXPRESSION_SYNTAX", message);
    }

    ExpressionException unexpected() {
        int line = (int) text.substring(0, start).chars().filter(c -> c == '\n').count() + 1;
        int column = start - text.lastIndexOf('\n', start - 1);
        return refused("unexpected " + (kind == Kind.END ? "end" : "'" + token + "'") + " at line " + line
                + ", column " + column);
    }

    private void next() {
        skipSpace();
        start = end;
        if (start >= text.length()) {
            set(Kind.END, start);
            return;
        }
        char c = text.charAt(start);
        if (c == '"') {
            set(Kind.TEXT, start + 1);
        } else if ((c == '.' || c == '$' || c == '@') && matches(WORD, start + 1)) {
            set(c == '.' ? Kind.FIELD : c == '$' ? Kind.VARIABLE : Kind.FORMAT, end);
        } else if (matches(NUMBER, start)) {
            set(Kind.NUMBER, end);
        } else if (matches(WORD, start)) {
            set(Kind.WORD, end);
        } else if (matches(SIGN, start)) {
            set(Kind.SIGN, end);
        } else {
            set(Kind.SIGN, start + 1);
            throw unexpected();
        }
    }

    private void set(Kind what, int to) {
        kind = what;
        end = to;
        token = text.substring(start, to);
    }

    private boolean matches(Pattern pattern, int at) {
        Matcher matcher = pattern.matcher(text).region(at, text.length());
        if (matcher.lookingAt()) {
            end = matcher.end();
            return true;
        }
        return false;
    }

    /** White space and comments; a comment continues on the next line behind an odd number of backslashes. */
    private void skipSpace() {
        while (end < text.length() && (" \t\r\n".indexOf(text.charAt(end)) >= 0 || text.charAt(end) == '#')) {
            if (text.charAt(end) != '#') {
                end++;
                continue;
            }
            boolean escaped = false;
            while (end < text.length() && (escaped || text.charAt(end) != '\n')) {
                boolean carriage = escaped && text.charAt(end) == '\r' && text.startsWith("\r\n", end);
                escaped = carriage || !escaped && text.charAt(end) == '\\';
                end++;
            }
        }
    }

    int position() {
        return start;
    }

    boolean isEnd() {
        return kind == Kind.END;
    }

    void expectEnd() {
        if (!isEnd()) {
            throw unexpected();
        }
    }

    boolean is(String sign) {
        return kind == Kind.SIGN && token.equals(sign);
    }

    boolean isOneOf(Collection<String> signs) {
        return kind == Kind.SIGN && signs.contains(token);
    }

    boolean take(String sign) {
        boolean there = is(sign);
        if (there) {
            next();
        }
        return there;
    }

    void expect(String sign) {
        if (!take(sign)) {
            throw unexpected();
        }
    }

    boolean isWord(String word) {
        return kind == Kind.WORD && token.equals(word);
    }

    boolean takeWord(String word) {
        boolean there = isWord(word);
        if (there) {
            next();
        }
        return there;
    }

    void expectWord(String word) {
        if (!takeWord(word)) {
            throw unexpected();
        }
    }

    boolean isField() {
        return kind == Kind.FIELD;
    }

    boolean isVariable() {
        return kind == Kind.VARIABLE;
    }

    boolean isFormat() {
        return kind == Kind.FORMAT;
    }

    boolean isNumber() {
        return kind == Kind.NUMBER;
    }

    boolean isText() {
        return kind == Kind.TEXT;
    }

    private String taken(Kind wanted, int from) {
        if (kind != wanted) {
            throw unexpected();
        }
        String value = token.substring(from);
        next();
        return value;
    }

    String field() {
        return taken(Kind.FIELD, 1);
    }

    String variable() {
        return taken(Kind.VARIABLE, 1);
    }

    /** The name of the variable that comes next. */
    String variableAhead() {
        return token.substring(1);
    }

    String format() {
        return taken(Kind.FORMAT, 1);
    }

    JsonNode number() {
        return JqNumber.parse(taken(Kind.NUMBER, 0));
    }

    /** A word, keywords included, as names of members are. */
    String word() {
        return taken(Kind.WORD, 0);
    }

    /** A word that is not a keyword, except keywords that begin a term. */
    String name() {
        if (KEYWORDS.contains(token) && !token.equals("reduce") && !token.equals("foreach")) {
            throw unexpected();
        }
        return word();
    }

    /** A dot before {@code [} or a text. */
    boolean isDotBeforeSuffix() {
        if (!is(".")) {
            return false;
        }
        int at = end;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at < text.length() && (text.charAt(at) == '[' || text.charAt(at) == '"');
    }

    /** A question mark, where {@code ?//} is one and an operator. */
    boolean takeQuestion() {
        if (is("?//")) {
            start++;
            set(Kind.SIGN, end);
            return true;
        }
        return take("?");
    }

    /** Reads a text to its end. @param program called with the token behind {@code \(} current, up to {@code )} */
    void text(Consumer<String> literal, Runnable program) {
        if (!isText()) {
            throw unexpected();
        }
        StringBuilder part = new StringBuilder();
        int at = end;
        while (true) {
            char c = at < text.length() ? text.charAt(at) : 0;
            if (at >= text.length()) {
                throw refused("a text is not closed with \"");
            } else if (c == '"') {
                break;
            } else if (c != '\\') {
                part.append(c);
                at++;
            } else if (text.startsWith("\\(", at)) {
                flush(part, literal);
                end = at + 2;
                next();
                program.run();
                if (!is(")")) {
                    throw unexpected();
                }
                at = end;
            } else {
                at = escape(at + 1, part);
            }
        }
        flush(part, literal);
        end = at + 1;
        next();
    }

    private static void flush(StringBuilder part, Consumer<String> literal) {
        if (!part.isEmpty()) {
            literal.accept(part.toString());
            part.setLength(0);
        }
    }

    /** @return the position behind the escape */
    private int escape(int at, StringBuilder part) {
        char c = at < text.length() ? text.charAt(at) : 0;
        int plain = "\"\\/bfnrt".indexOf(c);
        if (plain >= 0) {
            part.append("\"\\/\b\f\n\r\t".charAt(plain));
            return at + 1;
        }
        Matcher hex = Pattern.compile("u([0-9A-Fa-f]{4})").matcher(text).region(at, text.length());
        if (!hex.lookingAt()) {
            throw refused("\\" + c + " is no escape in a text");
        }
        part.append((char) Integer.parseInt(hex.group(1), 16));
        return hex.end();
    }

    /** Where a name with a hyphen was read as a subtraction: how it is written. */
    String hyphenHint(int at) {
        Matcher matcher = HYPHENED.matcher(text);
        while (matcher.find()) {
            if (matcher.start(2) < at && at < matcher.end(2) && text.charAt(at - 1) == '-') {
                return "; a name with a hyphen is written " + (matcher.group(1).isEmpty() ? "." : matcher.group(1))
                        + "[\"" + matcher.group(2) + "\"]";
            }
        }
        return "";
    }
}
