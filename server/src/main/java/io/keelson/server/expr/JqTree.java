package io.keelson.server.expr;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads and rewrites jackson-jq's syntax tree, whose classes keep their children private. Everything that knows the
 * inside of that library's classes by reflection is here; the version is pinned, and tests run every kind of node.
 */
final class JqTree {

    private static final String LIBRARY = "net.thisptr.jackson.jq.";

    private JqTree() {}

    /** Replaces every child in the tree below {@code node}, deepest first. A replacer returns what it leaves alone. */
    static void rewrite(Object node, UnaryOperator<Object> replacer) {
        rewrite(node, replacer, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static void rewrite(Object node, UnaryOperator<Object> replacer, Set<Object> seen) {
        if (!seen.add(node)) {
            return;
        }
        for (Field field : fields(node.getClass())) {
            Object value = get(node, field);
            Object replaced = replacement(value, replacer, seen);
            if (replaced != value && field.getType().isInstance(replaced)) {
                set(node, field, replaced);
            }
        }
    }

    private static @Nullable Object replacement(@Nullable Object value, UnaryOperator<Object> replacer,
            Set<Object> seen) {
        if (value instanceof List<?> list) {
            List<@Nullable Object> copy = new ArrayList<>(list.size());
            list.forEach(each -> copy.add(replacement(each, replacer, seen)));
            return copy;
        }
        if (value == null || !isPartOfTree(value)) {
            return value;
        }
        rewrite(value, replacer, seen);
        return replacer.apply(value);
    }

    /** The direct children of a node, those inside lists and pairs included. */
    static List<Object> children(Object node) {
        List<Object> children = new ArrayList<>();
        for (Field field : fields(node.getClass())) {
            addParts(get(node, field), children);
        }
        return children;
    }

    private static void addParts(@Nullable Object value, List<Object> into) {
        if (value instanceof List<?> list) {
            list.forEach(each -> addParts(each, into));
        } else if (value != null && isPartOfTree(value)) {
            into.add(value);
        }
    }

    /** The value of a node's field, by the field's name. */
    static @Nullable Object get(Object node, String name) {
        for (Field field : fields(node.getClass())) {
            if (field.getName().equals(name)) {
                return get(node, field);
            }
        }
        throw new IllegalStateException(node.getClass() + " has no field " + name);
    }

    private static boolean isPartOfTree(Object value) {
        String name = value.getClass().getName();
        return name.startsWith(LIBRARY + "internal.tree.")
                || name.startsWith(LIBRARY + "internal.operators.")
                || name.startsWith(LIBRARY + "internal.misc.Pair");
    }

    private static List<Field> fields(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        for (Class<?> each = type; each != Object.class; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    fields.add(field);
                }
            }
        }
        return fields;
    }

    private static @Nullable Object get(Object node, Field field) {
        try {
            return field.get(node);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void set(Object node, Field field, Object value) {
        try {
            field.set(node, value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
