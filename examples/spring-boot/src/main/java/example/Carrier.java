package example;

import org.springframework.stereotype.Service;

/** The carrier, which is an external system. */
@Service
class Carrier {

    /**
     * Orders a collection.
     *
     * @param key equal in all executions of a step, so that the carrier comes once
     * @return the tracking number
     */
    String collect(String parcel, String key) {
        return parcel + "-" + key.hashCode();
    }
}
