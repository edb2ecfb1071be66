package lb

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The compiler keeps a struct in registers only up to four fields and four
// words. A lease with a fifth made Acquire and Release twice as slow.
func TestALeaseFitsIntoRegisters(t *testing.T) {
	lease := reflect.TypeFor[Lease]()
	assert.LessOrEqual(t, lease.NumField(), 4)
	assert.LessOrEqual(t, lease.Size(), 4*reflect.TypeFor[uintptr]().Size())
}
