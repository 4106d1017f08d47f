package io.keelson.core.run;

import java.util.UUID;

/** Where new ids come from: time-ordered (version 7) in production, counted in simulations. */
@FunctionalInterface
public interface Ids {

    UUID next();
}
