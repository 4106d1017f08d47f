/** The store of artifacts' bytes: files of steps, each with size and SHA-256. */
@NullMarked
package io.keelson.server.base.artifact;

import org.jspecify.annotations.NullMarked;
