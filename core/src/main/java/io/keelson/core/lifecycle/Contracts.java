package io.keelson.core.lifecycle;

import java.util.List;

/**
 * The five published contracts as data. Each canonical transition is a path of at most three
 * transitions in each of them; {@code ContractsTest} walks them all.
 */
public final class Contracts {

    public static final Contract HANDOFF = HandoffContract.contract();
    public static final Contract GATE4 = Gate4Contract.contract();
    public static final Contract STEPS = StepsContract.contract();
    public static final Contract MISSION = MissionContract.contract();
    public static final Contract LIFECYCLE = LifecycleContract.contract();

    private Contracts() {}

    public static List<Contract> all() {
        return List.of(HANDOFF, GATE4, STEPS, MISSION, LIFECYCLE);
    }
}
