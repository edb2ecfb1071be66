package outlier

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A look may come between the two halves of counting a failed request.
func TestAFailureWithoutItsRequestIsDropped(t *testing.T) {
	var y tally
	y.count(true)
	y.failures.Add(1)
	assert.Equal(t, sample{requests: 1, failures: 1}, y.take())
	assert.Equal(t, sample{}, y.take())
	y.failures.Add(1)
	assert.Equal(t, sample{}, y.take())
}

func TestLengthsAreSafeAtTheEdges(t *testing.T) {
	assert.Zero(t, Config{}.length(3), "no base, no ejection, no panic")
	c := Config{BaseEjection: 24 * 3600e9, MaxEjection: 24 * 3600e9}
	assert.Equal(t, c.MaxEjection, c.length(1<<62), "no overflow")
}

func TestPercentHasOneDecimal(t *testing.T) {
	for _, c := range []struct {
		n, all int
		want   string
	}{{1, 3, "33.3"}, {2, 3, "66.7"}, {1, 4, "25"}, {1, 8, "12.5"}, {1, 200, "0.5"}, {7, 7, "100"}, {0, 7, "0"}} {
		assert.Equal(t, c.want, percent(c.n, c.all))
	}
}
