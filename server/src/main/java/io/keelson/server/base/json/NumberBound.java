package io.keelson.server.base.json;

import com.networknt.schema.ExecutionContext;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaContext;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.keyword.Keyword;
import com.networknt.schema.keyword.KeywordType;
import com.networknt.schema.keyword.KeywordValidator;
import com.networknt.schema.path.NodePath;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.exc.JsonNodeException;
import tools.jackson.databind.node.BigIntegerNode;

/**
 * A keyword such as {@code minimum} that takes every number. The library compares numbers of an integer's schema as longs, and
 * throws for 1e30, which is no long and in Jackson no {@code BigInteger} either.
 */
record NumberBound(KeywordType keyword) implements Keyword {

    static List<Keyword> all() {
        return Stream.of(KeywordType.MINIMUM, KeywordType.MAXIMUM, KeywordType.EXCLUSIVE_MINIMUM,
                KeywordType.EXCLUSIVE_MAXIMUM).<Keyword>map(NumberBound::new).toList();
    }

    @Override
    public String getValue() {
        return keyword.getValue();
    }

    @Override
    public KeywordValidator newValidator(SchemaLocation location, JsonNode bound, Schema parent, SchemaContext context)
            throws Exception {
        return new AnyNumber(keyword.newValidator(location, bound, parent, context));
    }

    private record AnyNumber(KeywordValidator library) implements KeywordValidator {

        /** Beyond all longs, a fraction does not change the order. */
        @Override
        public void validate(ExecutionContext context, JsonNode value, JsonNode root, NodePath at) {
            try {
                library.validate(context, value, root, at);
            } catch (JsonNodeException e) {
                library.validate(context, BigIntegerNode.valueOf(value.decimalValue().toBigInteger()), root, at);
            }
        }

        @Override
        public String getKeyword() {
            return library.getKeyword();
        }

        @Override
        public SchemaLocation getSchemaLocation() {
            return library.getSchemaLocation();
        }
    }
}
