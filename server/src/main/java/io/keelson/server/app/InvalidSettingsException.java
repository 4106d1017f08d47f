package io.keelson.server.app;

import io.keelson.core.plan.PlanProblem;
import java.util.List;
import java.util.stream.Collectors;

/** Settings that cannot be used. Lists everything wrong with them at once; a problem's pointer is the variable's name. */
public final class InvalidSettingsException extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient List<PlanProblem> problems;

    InvalidSettingsException(List<PlanProblem> problems) {
        super(problems.stream().map(PlanProblem::message).collect(Collectors.joining("\n")));
        this.problems = List.copyOf(problems);
    }

    /** Codes: {@code SETTING_UNKNOWN}, {@code SETTING_INVALID}, {@code CONFIG_FILE_UNREADABLE}. */
    public List<PlanProblem> problems() {
        return problems;
    }
}
