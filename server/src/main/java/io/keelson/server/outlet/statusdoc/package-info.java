/**
 * Status documents of runs in the artifact store, kept current from the event feed; inactive unless configured.
 */
@NullMarked
package io.keelson.server.outlet.statusdoc;

import org.jspecify.annotations.NullMarked;
