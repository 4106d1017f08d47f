/** Why a server does not start and a file cannot be used, for operators. */
@NullMarked
package io.keelson.server.base.problem;

import org.jspecify.annotations.NullMarked;
