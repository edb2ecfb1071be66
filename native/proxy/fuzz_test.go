package proxy

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func FuzzBackend(f *testing.F) {
	for _, text := range []string{"b1=127.0.0.1:9001", "b1=[::1]:1,weight=1000", "=:", "b1=h:1,weight=", "b1=h:1,", "b=,=:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b, again Backend
		if b.UnmarshalText([]byte(text)) != nil {
			assert.Zero(t, b, "a refused text changes nothing")
			return
		}
		assert.NoError(t, b.Check())
		assert.NoError(t, again.UnmarshalText([]byte(b.String())))
		assert.Equal(t, b, again)
	})
}
