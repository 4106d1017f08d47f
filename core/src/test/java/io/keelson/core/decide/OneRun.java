package io.keelson.core.decide;

import org.junit.jupiter.api.AfterEach;

/** A run that decisions are made on; whatever happened to it must have been legal. */
abstract class OneRun {
    World world;

    @AfterEach
    void everyEventWasLegal() {
        if (world != null) {
            Invariants.legal(world);
        }
    }
}
