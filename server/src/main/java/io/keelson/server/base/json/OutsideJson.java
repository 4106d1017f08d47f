package io.keelson.server.base.json;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.CharBuffer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * The only reader of JSON from outside: bodies of clients and workers, answers of models, MCP servers and web servers, texts of
 * models, output of programs. Bounds the depth, the tokens and the length of numbers. Estimates the memory of a tree by its
 * tokens and takes it from {@link DocumentMemory} before it makes the tree.
 */
public final class OutsideJson {
    /** Deeper documents are refused, because all readers of a tree are recursive. */
    private static final int MAX_DEPTH = 200;
    /** Values, keys and brackets of one document. */
    private static final long MAX_TOKENS = 2_000_000;
    private static final int MAX_NUMBER_LENGTH = 100;
    /** Estimated memory of one tree. */
    private static final long MAX_TREE_BYTES = Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 12);

    private static final int BUFFER_SIZE = 64 << 10;
    /** Copies of the bytes of a stream while they are put together. */
    private static final int COPIES = 3;
    /** The longest answer that is read, of a model. */
    private static final int MAX_DECLARED = 32 << 20;

    /** The object, its map and the views of the map, which its first readers create. */
    private static final int OBJECT_BYTES = 112;
    private static final int MEMBERS_BYTES = 80;
    private static final int MEMBER_BYTES = 72;
    private static final int ARRAY_BYTES = 96;
    private static final int ITEM_BYTES = 8;
    private static final int STRING_BYTES = 56;
    private static final int NUMBER_BYTES = 24;
    private static final int DECIMAL_BYTES = 80;

    private static final StreamReadConstraints BOUNDS = StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH)
            .maxTokenCount(MAX_TOKENS).maxNumberLength(MAX_NUMBER_LENGTH).build();
    private static final JsonMapper LENIENT = JsonMapper.builder(JsonFactory.builder().streamReadConstraints(BOUNDS)
            .build()).enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();
    private static final JsonMapper STRICT = JsonMapper.builder(JsonFactory.builder().streamReadConstraints(BOUNDS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private OutsideJson() {}

    /**
     * An answer of another system. Of duplicate keys, the last counts.
     *
     * @throws StreamConstraintsException when it exceeds a bound
     * @throws tools.jackson.core.JacksonException when it is no JSON
     * @throws DocumentMemory.FullException when there is no memory for its tree
     */
    public static JsonNode read(byte[] bytes) {
        return DocumentMemory.reading(share -> read(LENIENT, bytes, share));
    }

    /**
     * Reads a document from a stream, whose bytes count, too, while it is read. Memory for a declared length is taken
     * before the first byte, so that concurrent reads do not wait for each other's memory.
     *
     * @param length the value of {@code Content-Length}; null if absent
     */
    public static JsonNode read(InputStream in, @Nullable String length) throws IOException {
        return DocumentMemory.<JsonNode, IOException>reading(share -> {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] piece = new byte[BUFFER_SIZE];
            long taken = COPIES * declared(length);
            share.take(taken);
            try {
                for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                    all.write(piece, 0, read);
                    long missing = (long) COPIES * all.size() - taken;
                    if (missing > 0) {
                        share.take(missing);
                        taken += missing;
                    }
                }
                return read(LENIENT, all.toByteArray(), share);
            } finally {
                share.giveBack(taken);
            }
        });
    }

    /** The declared length of an answer in bytes; 0 if absent, malformed or above the maximum. */
    private static long declared(@Nullable String length) {
        return length != null && length.matches("\\d{1,9}") && Long.parseLong(length) <= MAX_DECLARED
                ? Long.parseLong(length)
                : 0;
    }

    /** Reads a document that its reader soon drops: its memory is released after the reading. */
    public static JsonNode readPassing(byte[] bytes) {
        return DocumentMemory.reading(share -> {
            long weight = weight(bytes);
            share.take(weight);
            try {
                return tree(LENIENT, bytes);
            } finally {
                share.giveBack(weight);
            }
        });
    }

    /**
     * A document without duplicate keys.
     *
     * @throws StreamConstraintsException when it exceeds a bound
     * @throws tools.jackson.core.JacksonException when it is no such document
     * @throws DocumentMemory.FullException when there is no memory for its tree
     */
    public static JsonNode readStrict(byte[] bytes) {
        return DocumentMemory.reading(share -> read(STRICT, bytes, share));
    }

    /**
     * Takes memory for the tree that another reader makes of the document; for a document that is no JSON, nothing.
     *
     * @throws DocumentMemory.FullException when there is not so much
     */
    public static void reserve(byte[] bytes) {
        long weight;
        try {
            weight = weight(bytes);
        } catch (JacksonException e) {
            return;
        }
        DocumentMemory.take(weight);
    }

    private static JsonNode read(ObjectMapper mapper, byte[] bytes, DocumentMemory.Share share) {
        share.take(weight(bytes));
        return tree(mapper, bytes);
    }

    private static JsonNode tree(ObjectMapper mapper, byte[] bytes) {
        return LargeDocuments.work(bytes.length, () -> {
            try (JsonParser parser = mapper.createParser(bytes)) {
                return Json.read(mapper, parser);
            }
        });
    }

    /**
     * Estimated bytes of memory of the tree of the first document in it.
     *
     * @throws StreamConstraintsException when it exceeds a bound
     * @throws tools.jackson.core.JacksonException when it is no JSON
     */
    private static long weight(byte[] bytes) {
        return LargeDocuments.<Long, RuntimeException>work(bytes.length, () -> {
            try (JsonParser parser = LENIENT.tokenStreamFactory().createParser(ObjectReadContext.empty(), bytes)) {
                return weight(parser);
            }
        });
    }

    private static long weight(JsonParser parser) {
        long weight = 0;
        int depth = 0;
        boolean first = false;
        for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
            depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            weight += switch (token) {
                case START_OBJECT -> OBJECT_BYTES + ITEM_BYTES;
                case START_ARRAY -> ARRAY_BYTES + ITEM_BYTES;
                case PROPERTY_NAME -> MEMBER_BYTES + parser.currentName().length() + (first ? MEMBERS_BYTES : 0);
                case VALUE_STRING -> STRING_BYTES + ITEM_BYTES + textBytes(parser);
                case VALUE_NUMBER_INT -> NUMBER_BYTES + ITEM_BYTES + (long) parser.getStringLength();
                case VALUE_NUMBER_FLOAT -> DECIMAL_BYTES + ITEM_BYTES + (long) parser.getStringLength();
                case VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> ITEM_BYTES;
                case END_OBJECT, END_ARRAY, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE -> 0;
            };
            first = token == JsonToken.START_OBJECT;
            if (weight > MAX_TREE_BYTES) {
                throw tooMuch();
            }
            if (depth == 0) {
                return weight;
            }
        }
        return weight;
    }

    /**
     * Takes memory for a tree that has grown.
     *
     * @param before the estimated bytes that were taken for it before
     * @return its estimated bytes now
     * @throws StreamConstraintsException when they exceed the bound
     * @throws DocumentMemory.FullException when there is not so much
     */
    public static long reserveGrown(JsonNode tree, long before) {
        long now = weight(tree);
        if (now > MAX_TREE_BYTES) {
            throw tooMuch();
        }
        if (now > before) {
            DocumentMemory.take(now - before);
        }
        return Math.max(now, before);
    }

    /**
     * The estimated bytes of trees with one more.
     *
     * @param before the estimated bytes of the others
     * @throws StreamConstraintsException when they exceed the bound of one document
     */
    public static long added(JsonNode tree, long before) {
        long now = before + weight(tree);
        if (now > MAX_TREE_BYTES) {
            throw tooMuch();
        }
        return now;
    }

    private static long weight(JsonNode tree) {
        long weight = ITEM_BYTES;
        switch (tree) {
            case ObjectNode object -> {
                weight += OBJECT_BYTES + (object.isEmpty() ? 0 : MEMBERS_BYTES);
                for (var each : object.properties()) {
                    weight += MEMBER_BYTES + each.getKey().length() + weight(each.getValue());
                }
            }
            case ArrayNode array -> {
                weight += ARRAY_BYTES;
                for (JsonNode each : array) {
                    weight += weight(each);
                }
            }
            case StringNode text -> weight += STRING_BYTES + textBytes(text.stringValue());
            default -> weight += tree.isNumber() ? DECIMAL_BYTES : 0;
        }
        return weight;
    }

    private static StreamConstraintsException tooMuch() {
        return new StreamConstraintsException("the document takes more than " + MAX_TREE_BYTES
                + " bytes of memory: it has too many values");
    }

    private static long textBytes(JsonParser parser) {
        return textBytes(CharBuffer.wrap(parser.getStringCharacters(), parser.getStringOffset(),
                parser.getStringLength()));
    }

    /** One byte a character, or two where a character needs them. */
    private static long textBytes(CharSequence text) {
        return text.chars().anyMatch(each -> each > 0xFF) ? 2L * text.length() : text.length();
    }
}
