/**
 * Programs that Keelson starts. Nothing of their process trees is left when they end, nor when this JVM is killed: each
 * runs under a shell script that watches a pipe.
 */
@NullMarked
package io.keelson.server.base.process;

import org.jspecify.annotations.NullMarked;
