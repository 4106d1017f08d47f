/**
 * Texts of answers while they arrive. They are for readers at this moment: the stored result of a step alone counts, and no
 * crash may need them.
 */
@NullMarked
package io.keelson.server.engine.live;

import org.jspecify.annotations.NullMarked;
