package io.keelson.core.decide;

import org.junit.jupiter.api.AfterEach;

/** Has one run to decide on; after each test, all its events must have been legal. */
abstract class OneRun {
    World world;

    @AfterEach
    void everyEventWasLegal() {
        if (world != null) {
            Invariants.legal(world);
        }
    }
}
