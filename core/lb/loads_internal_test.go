package lb

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/stat"
)

func TestFadedIsTheExponentialOnBothSidesOfItsShortCut(t *testing.T) {
	for _, x := range []float64{0, 1e-12, 1e-6, 1e-5, 2.4e-4, 1.0/4096 - 1e-12, 1.0 / 4096, 1e-3, 1, 700, 1e6} {
		assert.InDelta(t, stat.Exp(-x), faded(x), 1e-15, "x = %g", x)
	}
}
