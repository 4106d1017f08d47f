package io.keelson.core.run;

import java.util.UUID;

/** The source of new ids: time-ordered (version 7) in production, counted in simulations. */
@FunctionalInterface
public interface Ids {

    UUID next();
}
