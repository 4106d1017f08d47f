package io.keelson.core.plan;

/** Which version of workers the steps of a run get. */
public enum VersionBehavior {
    /** The version of the run's first claim of the tool. */
    PINNED,
    /** The version that the rule of the tool gives at each claim. */
    LATEST
}
