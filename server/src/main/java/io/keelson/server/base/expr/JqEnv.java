package io.keelson.server.base.expr;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The meaning of names at one place of a running program: a list from the innermost binding outwards. */
final class JqEnv {

    /** An argument with the names that it sees. */
    record Closure(JqNode node, JqEnv env) {}

    private final @Nullable JqEnv outer;
    private final @Nullable Object name;
    private final @Nullable Object meaning;
    private final JqEnv root;
    private final EvaluationBudget budget;

    JqEnv(EvaluationBudget budget) {
        this.outer = null;
        this.name = null;
        this.meaning = null;
        this.root = this;
        this.budget = budget;
    }

    private JqEnv(JqEnv outer, Object name, @Nullable Object meaning) {
        this.outer = outer;
        this.name = name;
        this.meaning = meaning;
        this.root = outer.root;
        this.budget = outer.budget;
    }

    EvaluationBudget budget() {
        return budget;
    }

    /** Where functions of the language itself run. */
    JqEnv root() {
        return root;
    }

    /** @param name the parser's object for the name, compared by identity */
    JqEnv with(Object name, @Nullable Object meaning) {
        return new JqEnv(this, name, meaning);
    }

    /** The place at which that name was bound. */
    JqEnv at(Object wanted) {
        JqEnv env = this;
        while (env.name != wanted) {
            if (env.outer == null) {
                throw new IllegalStateException("not bound: " + wanted);
            }
            env = env.outer;
        }
        return env;
    }

    JsonNode variable(Object wanted) {
        return (JsonNode) meaning(wanted);
    }

    Object meaning(Object wanted) {
        Object found = at(wanted).meaning;
        if (found == null) {
            throw new IllegalStateException("no meaning: " + wanted);
        }
        return found;
    }
}
