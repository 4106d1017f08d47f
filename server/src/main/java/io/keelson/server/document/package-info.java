/** Documents about runs in the artifact store, for readers who ask no server. */
@NullMarked
package io.keelson.server.document;

import org.jspecify.annotations.NullMarked;
