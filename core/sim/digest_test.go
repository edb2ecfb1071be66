package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
	"minilb/core/sim"
)

func TestADigestIsOfTheResultsAndFitsALink(t *testing.T) {
	s := scenario.Default()
	s.Requests = 200
	digest := func(o sim.Options) string {
		r, err := sim.Run(s, o)
		require.NoError(t, err)
		return r.Digest()
	}
	first := digest(sim.Options{})
	assert.Equal(t, first, digest(sim.Options{Series: true, Events: true}), "what else was asked for changes nothing")
	link := scenario.EncodeStamped(s, scenario.Stamp{Engine: scenario.Engine, Digest: first})
	_, stamp, err := scenario.DecodeStamped(link)
	require.NoError(t, err)
	assert.Equal(t, first, stamp.Digest)
	s.Seed = 2
	assert.NotEqual(t, first, digest(sim.Options{}))
}
