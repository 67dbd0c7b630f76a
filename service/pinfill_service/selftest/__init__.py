"""What this machine offers, what of it Pinfill uses, and whether answers come and are right."""
