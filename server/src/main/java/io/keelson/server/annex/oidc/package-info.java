/**
 * Sign-in of people at an OpenID provider, and tokens of services.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A token is accepted for one issuer and one audience, by algorithms with public keys alone.
 * <li>A sign-in is bound to the browser that began it by a cookie, from which state, nonce and verifier are derived.
 * <li>A subject is known by issuer and subject. Its name is a wish.
 * <li>One server exchanges a refresh token: the one with the row's lease. No connection of the database is held meanwhile.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.oidc;

import org.jspecify.annotations.NullMarked;
