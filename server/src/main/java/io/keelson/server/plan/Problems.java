package io.keelson.server.plan;

import io.keelson.core.plan.Problem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Collects problems, no more than a person could want to read. */
final class Problems {
    /** More are counted, not listed. */
    static final int LISTED = 1_000;

    private final List<Problem> found = new ArrayList<>();
    private final Set<String> places = new HashSet<>();
    private int left;

    void add(String code, String pointer, String message) {
        add(new Problem(code, pointer, message));
    }

    void add(Problem problem) {
        places.add(problem.pointer());
        if (found.size() >= LISTED) {
            left++;
        } else {
            found.add(problem);
        }
    }

    void addAll(Collection<Problem> problems) {
        problems.forEach(this::add);
    }

    /** Whether this place or one that contains it has a problem already; further problems there follow from it. */
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

    List<Problem> all() {
        if (left == 0) {
            return List.copyOf(found);
        }
        List<Problem> all = new ArrayList<>(found);
        all.add(new Problem("TOO_MANY_PROBLEMS", "", "and " + left + " more problems"));
        return all;
    }
}
