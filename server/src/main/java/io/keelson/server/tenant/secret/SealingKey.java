package io.keelson.server.tenant.secret;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * An encryption key: AES-256 in Galois/Counter Mode with a fresh nonce each time, bound to a context, so that a value
 * moved to another place does not open. Its text form does not show it.
 */
public final class SealingKey {

    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final String MAC = "HmacSHA256";
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final int ID_BYTES = 4;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SecretKeySpec key;
    private final String id;

    private SealingKey(byte[] bytes) {
        this.key = new SecretKeySpec(bytes, "AES");
        this.id = id(bytes);
    }

    /**
     * Reads a key as configuration has it.
     *
     * @param text 32 bytes in Base64
     * @return null when it is not that
     */
    public static @Nullable SealingKey parse(String text) {
        try {
            byte[] bytes = Base64.getDecoder().decode(text.strip());
            return bytes.length == KEY_BYTES ? new SealingKey(bytes) : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** A new random key. */
    public static SealingKey fresh() {
        return new SealingKey(random());
    }

    private static byte[] random() {
        byte[] bytes = new byte[KEY_BYTES];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    /**
     * Reads the key of a file. Makes the file, readable by its owner only, if it is absent.
     *
     * @return null if the file has no key
     */
    public static @Nullable SealingKey ofFile(Path file) throws IOException {
        if (!Files.exists(file)) {
            write(file, Base64.getEncoder().encodeToString(random()) + "\n");
        }
        return parse(Files.readString(file, StandardCharsets.ISO_8859_1));
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (var channel = Files.newByteChannel(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            channel.write(StandardCharsets.US_ASCII.encode(text));
        } catch (FileAlreadyExistsException e) {
            // another process created it at the same moment: that key counts
        }
    }

    private static String id(byte[] bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return HexFormat.of().formatHex(digest, 0, ID_BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Names the key without telling it. */
    public String id() {
        return id;
    }

    byte[] seal(String value, String context) {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce, context)
                    .doFinal(value.getBytes(StandardCharsets.UTF_8));
            byte[] all = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
            System.arraycopy(sealed, 0, all, NONCE_BYTES, sealed.length);
            return all;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @throws SecretException {@code SECRET_KEY_MISSING} when it was sealed otherwise, or changed since */
    String open(byte[] sealed, String context) {
        try {
            byte[] value = cipher(Cipher.DECRYPT_MODE, Arrays.copyOf(sealed, NONCE_BYTES), context)
                    .doFinal(sealed, NONCE_BYTES, sealed.length - NONCE_BYTES);
            return new String(value, StandardCharsets.UTF_8);
        } catch (AEADBadTagException e) {
            throw new SecretException(SecretException.KEY_MISSING, "what is stored does not open under the key " + id);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A signature by a key that is derived from this one for the context. */
    byte[] sign(String text, String context) {
        return mac(new SecretKeySpec(mac(new SecretKeySpec(key.getEncoded(), MAC), "keelson signs " + context), MAC),
                text);
    }

    private static byte[] mac(SecretKeySpec by, String text) {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(by);
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + MAC, e);
        }
    }

    private Cipher cipher(int mode, byte[] nonce, String context) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(context.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    @Override
    public String toString() {
        return "SealingKey " + id;
    }
}
