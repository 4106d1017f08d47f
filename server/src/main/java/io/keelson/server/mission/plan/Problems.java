package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Collects problems, no more than a person could want to read. */
final class Problems {
    /** More are counted, not listed. */
    static final int LISTED = 1_000;

    private final List<PlanProblem> found = new ArrayList<>();
    private final Set<String> places = new HashSet<>();
    private int left;

    void add(String code, String pointer, String message) {
        add(new PlanProblem(code, pointer, message));
    }

    void add(PlanProblem problem) {
        places.add(problem.pointer());
        if (found.size() >= LISTED) {
            left++;
        } else {
            found.add(problem);
        }
    }

    void addAll(Collection<PlanProblem> problems) {
        problems.forEach(this::add);
    }

    /** Adds the problems of a flat plan at their places as the plan is written. */
    void addAll(Problems ofFlat, FlatPlan flat) {
        addAll(flat.asWritten(ofFlat.found));
        left += ofFlat.left;
    }

    /** Whether this place or an enclosing place already has a problem; further problems there follow from it. */
    boolean cover(String pointer) {
        for (String at = pointer; !at.isEmpty(); at = at.substring(0, at.lastIndexOf('/'))) {
            if (places.contains(at)) {
                return true;
            }
        }
        return false;
    }

    /** Whether something was said of this place or of anything in it. */
    boolean coverBelow(String pointer) {
        return places.stream().anyMatch(at -> at.equals(pointer) || at.startsWith(pointer + "/"));
    }

    boolean isEmpty() {
        return found.isEmpty();
    }

    List<PlanProblem> all() {
        if (left == 0) {
            return List.copyOf(found);
        }
        List<PlanProblem> all = new ArrayList<>(found);
        all.add(new PlanProblem("TOO_MANY_PROBLEMS", "", "and " + left + " more problems"));
        return all;
    }
}
