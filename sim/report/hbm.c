/* What a run of HBM requests took, and the table of accuracy. */
