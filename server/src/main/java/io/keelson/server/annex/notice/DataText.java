package io.keelson.server.annex.notice;

import java.util.Set;
import tools.jackson.databind.JsonNode;

/** The data of a question as people read it: a line for each value, with its name, and indented lines for the values within. */
final class DataText {

    private static final int INDENT = 2;
    /** Members that the page shows elsewhere, or that are for programs. */
    private static final Set<String> LEFT_OUT = Set.of("question", "input_sha256");

    private final StringBuilder text = new StringBuilder();
    private final int most;

    private DataText(int most) {
        this.most = most;
    }

    /**
     * The text of the data.
     *
     * @param most characters; a longer text is cut and ends with an ellipsis
     * @return empty if there is nothing to show
     */
    static String of(JsonNode data, int most) {
        DataText made = new DataText(most);
        if (data.isObject()) {
            data.properties().stream().filter(each -> !LEFT_OUT.contains(each.getKey()))
                    .forEach(each -> made.member(each.getKey(), each.getValue(), 0));
        } else if (data.isArray()) {
            data.forEach(each -> made.element(each, 0));
        } else if (!data.isMissingNode() && !data.isNull()) {
            made.text.append(data.asString());
        }
        return made.cut();
    }

    private String cut() {
        String whole = text.toString().stripTrailing();
        return whole.length() <= most ? whole : whole.substring(0, most).stripTrailing() + "…";
    }

    private void member(String name, JsonNode value, int indent) {
        begin(indent).append(name).append(':');
        value(value, indent);
    }

    private void element(JsonNode value, int indent) {
        int start = text.length();
        if (value.isObject() && !value.isEmpty()) {
            value.properties().forEach(each -> member(each.getKey(), each.getValue(), indent + INDENT));
            text.setCharAt(start + indent, '-');
        } else {
            begin(indent).append('-');
            value(value, indent);
        }
    }

    private StringBuilder begin(int indent) {
        return text.append(" ".repeat(indent));
    }

    /** The value behind its name, or in the lines below it. */
    private void value(JsonNode value, int indent) {
        if (text.length() > most) {
            return;
        }
        if (value.isContainer() && value.isEmpty() || value.isNull()) {
            text.append(" none\n");
        } else if (value.isObject()) {
            text.append('\n');
            value.properties().forEach(each -> member(each.getKey(), each.getValue(), indent + INDENT));
        } else if (value.isArray()) {
            text.append('\n');
            value.forEach(each -> element(each, indent + INDENT));
        } else {
            lines(value.asString(), indent);
        }
    }

    private void lines(String value, int indent) {
        if (value.indexOf('\n') < 0) {
            text.append(' ').append(value).append('\n');
            return;
        }
        text.append('\n');
        value.lines().forEach(line -> begin(indent + INDENT).append(line).append('\n'));
    }
}
