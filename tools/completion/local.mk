# local.mk - completion for shells, made of what the programs' --help prints. Programs for another
# machine can't be run, and have none.

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
if COMPLETION
nodist_bashcompletion_DATA = completion/bash/redlock completion/bash/redlock-bench \
	completion/bash/redlock-chaos completion/bash/redlock-cluster
nodist_zshcompletion_DATA = completion/zsh/_redlock completion/zsh/_redlock-bench \
	completion/zsh/_redlock-chaos completion/zsh/_redlock-cluster
nodist_fishcompletion_DATA = completion/fish/redlock.fish completion/fish/redlock-bench.fish \
	completion/fish/redlock-chaos.fish completion/fish/redlock-cluster.fish
completion = $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) \
	$(nodist_fishcompletion_DATA)
CLEANFILES += $(completion) completion/made
$(completion): completion/made
completion/made: $(bin_PROGRAMS) $(bin_SCRIPTS) $(completion_makers)
	$(AM_V_GEN)sh $(srcdir)/%D%/make.sh bin completion && echo >$@
endif
completion_makers = %D%/make.sh %D%/options.awk %D%/bash.awk %D%/zsh.awk %D%/fish.awk
EXTRA_DIST += $(completion_makers)
