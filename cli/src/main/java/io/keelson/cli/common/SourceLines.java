package io.keelson.cli.common;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Finds the line of a place that a JSON pointer names, in YAML and, since YAML reads it too, in JSON. */
final class SourceLines {

    private final @Nullable Node root;

    SourceLines(String text) {
        this.root = compose(text);
    }

    private static @Nullable Node compose(String text) {
        try {
            return new Compose(LoadSettings.builder().build()).composeString(text).orElse(null);
        } catch (YamlEngineException e) {
            return null;
        }
    }

    /** From 1; of the nearest place above where the document has no such place; empty for text that cannot be read. */
    Optional<Integer> of(String pointer) {
        Node node = root;
        Node place = root;
        for (String part : pointer.isEmpty() ? List.<String>of() : List.of(pointer.substring(1).split("/", -1))) {
            String key = part.replace("~1", "/").replace("~0", "~");
            Step step = step(node, key);
            if (step == null) {
                break;
            }
            place = step.place();
            node = step.value();
        }
        return place == null ? Optional.empty() : place.getStartMark().map(mark -> mark.getLine() + 1);
    }

    /** @param place the key of a member, or the item itself */
    private record Step(Node place, Node value) {}

    private static @Nullable Step step(@Nullable Node node, String key) {
        if (node instanceof MappingNode mapping) {
            for (NodeTuple member : mapping.getValue()) {
                if (member.getKeyNode() instanceof ScalarNode name && name.getValue().equals(key)) {
                    return new Step(member.getKeyNode(), member.getValueNode());
                }
            }
        }
        if (node instanceof SequenceNode sequence && key.matches("\\d{1,9}")
                && Integer.parseInt(key) < sequence.getValue().size()) {
            Node item = sequence.getValue().get(Integer.parseInt(key));
            return new Step(item, item);
        }
        return null;
    }
}
