package io.keelson.api.definition;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A published state machine: a canonical one; or a contract, as the machine of its runs.
 *
 * @param name name of the contract or of the canonical entity
 * @param entity entity whose states these are
 * @param initial first state
 * @param states states of the entity
 * @param transitions all allowed transitions, besides staying in a state; in a contract also the transitions from a state to
 *     itself that its document lists
 * @param projection how the canonical states look in this machine; contracts only
 * @param title the contract's own title; contracts only
 * @param machines a contract's machines of tasks or steps
 * @param errors names of a failed run's error; in the contract {@code lifecycle} only
 */
public record Lifecycle(String name, @OneOf({
        "run", "agent", "task", "step"}) String entity, String initial,
        List<State> states, List<Transition> transitions,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Projected> projection,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String title,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Machine> machines,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<ErrorName> errors) {

    public Lifecycle {
        projection = Absent.asEmpty(projection);
        machines = Absent.asEmpty(machines);
        errors = Absent.asEmpty(errors);
    }

    /**
     * A contract's machine of tasks or steps.
     *
     * @param name name of the contract
     * @param entity entity whose states these are
     * @param initial first state
     * @param states states of the entity
     * @param transitions all allowed transitions
     * @param projection how the canonical states look in this machine
     */
    public record Machine(String name, @OneOf({
            "run", "agent", "task", "step"}) String entity, String initial,
            List<State> states, List<Transition> transitions,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Projected> projection) {

        public Machine {
            projection = Absent.asEmpty(projection);
        }
    }

    /**
     * A state.
     *
     * @param name name of the state
     * @param type type of the state
     * @param terminal whether the entity has ended
     */
    public record State(String name, @Ref("StateType") String type, boolean terminal) {}

    /**
     * A transition.
     *
     * @param from previous state
     * @param to next state
     * @param by the command or condition that causes the transition
     * @param event the type of the event that it writes; canonical machines only
     */
    public record Transition(String from, String to, String by,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String event) {}

    /**
     * A canonical state in a contract.
     *
     * @param canonical state of the engine
     * @param when only in this circumstance; the row without it holds in all others
     * @param state state of the contract
     * @param newItem whether the contract sees a new item begin here, because its terminal states are immutable
     */
    public record Projected(String canonical,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @OneOf({"waits_for_timer", "waits_for_human",
                    "later_attempt", "not_begun"}) String when,
            String state, boolean newItem) {}

    /**
     * The name of a failed run's error.
     *
     * @param code name of the error
     * @param httpStatus HTTP status of the error
     * @param when condition of the error
     * @param covers error codes of runs that it covers besides its own name
     */
    public record ErrorName(@Ref("LifecycleErrorCode") String code, int httpStatus, String when,
            List<String> covers) {}
}
