package sim

import (
	"encoding/json"
	"fmt"
)

// Digest is a short mark of the results alone, for the r= of a link: 8
// hexadecimal digits, FNV-1a of their JSON. It tells a reader that the engine
// has changed since; it keeps nobody out.
func (r Report) Digest() string {
	text, err := json.Marshal(r.Results)
	if err != nil {
		panic("sim: " + err.Error()) // figures are finite and names are plain
	}
	hash := uint64(0xcbf29ce484222325)
	for _, c := range text {
		hash = (hash ^ uint64(c)) * 0x100000001b3
	}
	return fmt.Sprintf("%08x", uint32(hash>>32))
}
