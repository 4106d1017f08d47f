package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.schema.CoreSchema;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLReadFeature;

/**
 * Bytes from outside into a tree, the same tree for JSON and YAML: UTF-8, one document, bounded size and depth, no
 * duplicate keys, no NaN or infinity, no text that cannot be stored, and of YAML only what JSON can say too (no
 * anchors, aliases or tags, so nothing can blow up).
 */
public final class Documents {
    /** In bytes; larger values are artifacts. */
    public static final int MAX_BYTES = 1 << 20;
    /** In characters; the YAML parser takes quadratic time over a line. */
    static final int MAX_YAML_LINE = 1 << 17;
    /** Objects and arrays within each other. */
    public static final int MAX_DEPTH = 64;

    private static final StreamReadConstraints BOUNDS = StreamReadConstraints.builder().maxStringLength(MAX_BYTES)
            .maxNameLength(MAX_BYTES).maxDocumentLength(MAX_BYTES).build();
    private static final JsonFactory JSON = JsonFactory.builder().streamReadConstraints(BOUNDS).build();
    private static final YAMLFactory YAML = YAMLFactory.builder().streamReadConstraints(BOUNDS)
            .disable(YAMLReadFeature.PARSE_OCTAL_NUMBERS)
            .loadSettings(LoadSettings.builder().setSchema(new CoreSchema()).setCodePointLimit(MAX_BYTES)
                    .setAllowDuplicateKeys(true).build())
            .build();
    /** Ends of the parsers' messages that speak of their own settings. */
    private static final Pattern INTERNALS =
            Pattern.compile("(: enable `| \\(start marker| \\(not recognized).*", Pattern.DOTALL);

    private Documents() {}

    /** The line, from 1, of the byte at that place. */
    private static long line(byte[] bytes, int place) {
        return 1 + IntStream.range(0, place).filter(at -> bytes[at] == '\n').count();
    }

    /** Codes: {@code TOO_LARGE}, {@code MALFORMED_JSON}, {@code MALFORMED_YAML} and codes of single places. */
    public static ReadResult<JsonNode> read(byte[] bytes, Format format) {
        if (bytes.length > MAX_BYTES) {
            return new ReadResult.Invalid<>(List.of(tooLarge()));
        }
        ByteBuffer unread = ByteBuffer.wrap(bytes);
        String text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(unread).toString();
        } catch (CharacterCodingException e) {
            return refused(format.malformed(), "invalid UTF-8: line " + line(bytes, unread.position())
                    + " contains an invalid byte; save the file as UTF-8");
        }
        int line = format == Format.JSON ? 0 : longLine(text);
        return line > 0
                ? refused("LINE_TOO_LONG", "a line of YAML has at most " + MAX_YAML_LINE + " characters, line " + line
                        + " has more: split it, or send JSON")
                : read(text.startsWith("\uFEFF") ? text.substring(1) : text, format);
    }

    /** The number of the first line that is too long; 0 when none is. */
    private static int longLine(String text) {
        int line = 1;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '\n' || text.charAt(i) == '\r') {
                line++;
                start = i + 1;
            } else if (i - start >= MAX_YAML_LINE) {
                return line;
            }
        }
        return 0;
    }

    private static ReadResult<JsonNode> read(String text, Format format) {
        TokenStreamFactory factory = format == Format.JSON ? JSON : YAML;
        try (JsonParser parser = factory.createParser(ObjectReadContext.empty(), new WholeCharacters(text))) {
            TreeBuilder builder = new TreeBuilder(parser);
            JsonNode tree = builder.document();
            return builder.problems().isEmpty()
                    ? new ReadResult.Ok<>(tree)
                    : new ReadResult.Invalid<>(builder.problems().all());
        } catch (TreeBuilder.TooDeep e) {
            return refused("TOO_DEEP", "at most " + MAX_DEPTH + " nested objects and arrays are allowed");
        } catch (JacksonException e) {
            return e.getCause() instanceof MarkedYamlEngineException marked
                    ? refused(format.malformed(), marked.getProblem() + place(marked))
                    : refused(format.malformed(), INTERNALS.matcher(e.getOriginalMessage()).replaceFirst("")
                            + place(e.getLocation()));
        } catch (YamlEngineException e) {
            return refused(format.malformed(), String.valueOf(e.getMessage()));
        }
    }

    /** The problem of a document with too many bytes. */
    static PlanProblem tooLarge() {
        return new PlanProblem("TOO_LARGE", "", "a mission has at most " + MAX_BYTES
                + " bytes with its input: store larger values as artifacts");
    }

    private static String place(TokenStreamLocation at) {
        return at == null || at.getLineNr() < 1 ? ""
                : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
    }

    private static String place(MarkedYamlEngineException e) {
        return e.getProblemMark()
                .map(mark -> " (line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ")").orElse("");
    }

    private static <T> ReadResult<T> refused(String code, String message) {
        return new ReadResult.Invalid<>(List.of(new PlanProblem(code, "", message)));
    }

    /** Text in pieces that never end within a surrogate pair: at the end of its buffer the YAML parser breaks on one. */
    private static final class WholeCharacters extends Reader {

        private final String text;
        private int at;

        WholeCharacters(String text) {
            this.text = text;
        }

        @Override
        public int read(char[] buffer, int offset, int length) {
            if (at == text.length()) {
                return -1;
            }
            int end = Math.min(text.length(), at + length);
            if (end - at > 1 && end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
                end--;
            }
            text.getChars(at, end, buffer, offset);
            int count = end - at;
            at = end;
            return count;
        }

        @Override
        public void close() {
            at = text.length();
        }
    }
}
