/** Webhooks, the board and reports. */
@NullMarked
package io.keelson.api.outlet;

import org.jspecify.annotations.NullMarked;
