"""How the model of `armarium-reader-hand` is made: corpus, convention, augmentation, model, training, export, evaluation."""
