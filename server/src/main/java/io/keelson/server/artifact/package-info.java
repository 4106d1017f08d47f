/** Artifacts: files a step leaves behind, stored by content with size and hash. */
@NullMarked
package io.keelson.server.artifact;

import org.jspecify.annotations.NullMarked;
